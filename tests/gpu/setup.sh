# Makes a bare GPU host ready, from the root of a checkout: what is carried is unpacked, and the environment set. Sourced.
#
# Needs root, Linux with util-linux, and an interpreter with torch for the GPU. What else is needed may be carried in a
# folder (TASREE_GPU_CARRIED, default .gpu in the checkout): Debian packages (bubblewrap, and libseccomp2 where the
# host has none), pyseccomp.py, and in wheels/ what the bot needs (see README.md).
#   TASREE_SANDBOX_PYTHON  the learners' interpreter (default: /opt/torch/.venv/bin/python3, or .venv-learners)
#   TASREE_RUNNER_PYTHON   what runs the runner, with numpy (default: .venv/bin/python, or python3); then in $runner

carried=${TASREE_GPU_CARRIED:-$PWD/.gpu}
# Unpacked beside the system, and only what it lacks is copied over: a package of another release must replace nothing.
unpacked=$(mktemp -d)
for package in "$carried"/*.deb; do
    [ -e "$package" ] && dpkg -x "$package" "$unpacked"
done
if ! command -v bwrap >/dev/null && [ -e "$unpacked/usr/bin/bwrap" ]; then
    cp "$unpacked/usr/bin/bwrap" /usr/bin/bwrap
fi
find "$unpacked" -name '*.so.*' | while read -r library; do
    name=$(basename "$library" | sed 's/\(\.so\.[0-9]*\).*/\1/')
    ldconfig -p | grep -F "$name " >/dev/null || cp "$library" "/usr/lib/$(uname -m)-linux-gnu/$name"
done
ldconfig
rm -rf "$unpacked"
export TASREE_RUNNER_BASE_UID=${TASREE_RUNNER_BASE_UID:-$((200000 + $$ % 10000 * 16))} # beside other runners' slots
export PYTHONPATH="$carried${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
if [ -d "$carried/wheels" ]; then
    site=/tmp/tasree-site # for the runner and the bot; nothing of it is seen inside the walls
    [ -d $site ] || for wheel in "$carried"/wheels/*.whl; do python3 -m zipfile -e "$wheel" $site; done
    export PYTHONPATH="$PYTHONPATH:$site"
fi

if [ -z "${TASREE_SANDBOX_PYTHON:-}" ]; then
    for python in /opt/torch/.venv/bin/python3 "$PWD/.venv-learners/bin/python"; do
        [ -x "$python" ] && { export TASREE_SANDBOX_PYTHON=$python; break; }
    done
fi
runner=${TASREE_RUNNER_PYTHON:-}
[ -n "$runner" ] || { [ -x .venv/bin/python ] && runner=$PWD/.venv/bin/python || runner=python3; }
# A bot's own runner is started without PYTHONPATH: what it cannot find must lie among the interpreter's packages.
if [ -e "$carried/pyseccomp.py" ] && ! env -u PYTHONPATH "$runner" -c 'import pyseccomp' 2>/dev/null; then
    cp "$carried/pyseccomp.py" "$("$runner" -c 'import site; print(site.getsitepackages()[0])')/"
fi

# Control groups where the host's init made none: version 2 if the kernel gives it a memory controller, else version 1.
has_memory() {
    grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null ||
        awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { found = 1 } END { exit !found }' /proc/mounts
}
if [ "$(id -u)" = 0 ] && ! has_memory; then
    { mount -t cgroup2 none /sys/fs/cgroup && has_memory && echo "mounted cgroup2 with $(cat /sys/fs/cgroup/cgroup.controllers)"; } >&2
    has_memory || for controllers in memory pids cpu,cpuacct; do
        mkdir -p "/run/tasree-groups/$controllers"
        mount -t cgroup -o "$controllers" none "/run/tasree-groups/$controllers" && echo "mounted $controllers, version 1" >&2
    done
    has_memory || { echo "no control groups to be had:" && cat /proc/cgroups && grep cgroup /proc/mounts; } >&2
fi
top=/sys/fs/cgroup
if [ -w $top/cgroup.subtree_control ] && ! echo "+memory +pids +cpu" 2>/dev/null >$top/cgroup.subtree_control; then
    mkdir -p $top/init
    while read -r pid; do echo "$pid" >$top/init/cgroup.procs; done <$top/cgroup.procs 2>/dev/null
    echo "+memory +pids +cpu" >$top/cgroup.subtree_control || echo "no controllers in $top" >&2
    mkdir -p $top/runner # the runner alone in one, below which it makes its jobs' groups
    echo $$ >$top/runner/cgroup.procs
fi

for need in bwrap setpriv; do
    command -v $need >/dev/null || echo "missing: $need (carry the package in $carried)" >&2
done
"$runner" -c 'import numpy, pyseccomp' || echo "missing: numpy or pyseccomp for $runner (carry pyseccomp.py in $carried)" >&2
