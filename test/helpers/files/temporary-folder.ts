import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** A new folder, which is removed with what is in it when the running test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new folder for the tests of the file, or of the suite, in which it is called; it is removed after them. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
