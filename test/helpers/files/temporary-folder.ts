import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** Creates a folder, which is removed with its content after the running test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a folder for the tests of the calling file or suite, which is removed after them. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
