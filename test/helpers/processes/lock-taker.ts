import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Takes the locks whose paths it gets as messages, and answers `held`, `taken` or the error. It pauses before each call of the file system,
 * so that several of these processes interleave in every way.
 */
const cell = new Int32Array(new SharedArrayBuffer(4));
const calls = [
  'mkdirSync',
  'readdirSync',
  'readFileSync',
  'renameSync',
  'rmdirSync',
  'rmSync',
  'statSync',
  'unlinkSync',
  'writeFileSync',
] as const;
for (const name of calls) {
  const call = fs[name] as (...parameters: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...parameters: unknown[]) => {
      Atomics.wait(cell, 0, 0, Math.random() * 3);
      return call(...parameters);
    },
  });
}
syncBuiltinESMExports();

const { takeLock } = await import('#shared/core/take-lock.mjs');

process.on('message', (path: string) => {
  try {
    process.send?.('release' in takeLock(path) ? 'held' : 'taken');
  } catch (error) {
    process.send?.(String(error));
  }
});
process.send?.('ready');
