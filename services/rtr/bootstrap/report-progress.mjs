import { isUnpacked } from './missing-dependencies.mjs';

const everyMs = 10_000;

/**
 * Prints a line about an installation every ten seconds: how many packages are unpacked, or that nothing has arrived yet.
 * @param {string} root folder of the project
 * @param {string[]} paths folders of the packages to install, such as `node_modules/zod`
 */
export function reportProgress(root, paths) {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const count = paths.filter((path) => isUnpacked(root, path)).length;
    const progress =
      count > 0
        ? `${count} of ${paths.length} packages are unpacked`
        : 'nothing has arrived yet, the network may be slow or away; Ctrl-C stops';
    console.error(`… ${seconds} s: ${progress}`);
  }, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
    },
  };
}
