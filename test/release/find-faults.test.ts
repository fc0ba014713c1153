import { expect, it } from 'vitest';
import { findFaults, type ReleaseState } from './find-faults.ts';

const empty = { version: 'Unreleased', date: undefined, text: '' };
const released = { version: '1.2.0', date: '2026-12-01', text: '### Added\n\n- Something.' };
const good: ReleaseState = {
  version: '1.2.0',
  changed: [],
  changelog: [empty, released],
  tagsHere: [],
  tags: ['v1.1.0'],
};

it('a release can be made of a clean tree whose version, changelog and tag agree', () => {
  expect(findFaults(good)).toEqual([]);
  expect(findFaults({ ...good, tagsHere: ['v1.2.0', 'stable'], tags: ['v1.2.0', 'stable'] })).toEqual([]);
});

it.each<[string, Partial<ReleaseState>]>([
  ['uncommitted changes', { changed: [' M README.md'] }],
  ['names another commit', { tags: ['v1.2.0'] }],
  ['has the tag v1.3.0', { tagsHere: ['v1.3.0'] }],
  ['newest section of CHANGELOG.md is 1.2.0', { version: '1.3.0' }],
  ['has no date', { changelog: [empty, { ...released, date: undefined }] }],
  ['is empty', { changelog: [empty, { ...released, text: '' }] }],
  ['unreleased changes', { changelog: [{ ...empty, text: '- A change.' }, released] }],
])('a release is refused: %s', (fault, state) => {
  expect(findFaults({ ...good, ...state })).toEqual([expect.stringContaining(fault)]);
});
