// The browser's two storages, either of which may be forbidden or full: then nothing is kept, and the page goes on.

function over(area) {
  return {
    get: (key) => safely(() => area().getItem(key)),
    set: (key, value) => safely(() => (area().setItem(key, value), true)) ?? false,
    remove: (key) => safely(() => area().removeItem(key)),
    keys: () => safely(() => Object.keys(area())) ?? [],
  };
}

export function safely(work) {
  try {
    return work();
  } catch {
    return null;
  }
}

export const ofTab = over(() => sessionStorage);
export const ofBrowser = over(() => localStorage);
