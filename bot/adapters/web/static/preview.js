// The preview of a lesson: waits until its files change, then shows it anew, at the same place of the page.

async function watch() {
  for (;;) {
    try {
      const answer = await fetch(`/changed?stamp=${document.body.dataset.stamp}`);
      if (answer.ok && (await answer.text()) !== document.body.dataset.stamp) {
        location.reload();
        return;
      }
    } catch {
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

watch();
