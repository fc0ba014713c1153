const watchEveryMs = 1_000;

/** Read before anything else: an installation may take minutes, and npm may go in the meantime. */
const firstParent = process.ppid;

/**
 * Calls back once when npm has started us and is gone. npm ends at SIGTERM and SIGHUP without a word to what it runs, and
 * then nobody would be left who can be told to stop us. Without npm in between an orphan is wanted: `nohup` and `&` make
 * one when their shell ends.
 * @param {() => void} onGone
 */
export function watchNpm(onGone) {
  // Set by `npm start` and by `npx` alike.
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const look = setInterval(() => {
    if (process.ppid === firstParent) return;
    clearInterval(look);
    onGone();
  }, watchEveryMs);
  look.unref();
}
