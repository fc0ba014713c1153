import type { ChangelogSection } from './changelog.ts';

/** What a release is made of. */
export interface ReleaseState {
  version: string;
  /** Paths with uncommitted changes. */
  changed: readonly string[];
  changelog: readonly ChangelogSection[];
  /** Tags of the commit to release. */
  tagsHere: readonly string[];
  /** All tags of the repository. */
  tags: readonly string[];
}

/** Finds what forbids a release, as sentences. A release is the committed state, and its tag, its version and its changelog agree. */
export function findFaults({ version, changed, changelog, tagsHere, tags }: ReleaseState): string[] {
  const tag = `v${version}`;
  const other = tagsHere.find((name) => /^v\d/.test(name) && name !== tag);
  const [unreleased, newest] = changelog;
  return [
    changed.length > 0 && `The tree has uncommitted changes: ${changed.slice(0, 5).join(', ')}.`,
    tags.includes(tag) && !tagsHere.includes(tag) && `The tag ${tag} names another commit: raise the version.`,
    other !== undefined && `The commit has the tag ${other}, but its version is ${version}.`,
    newest?.version !== version &&
      `The newest section of CHANGELOG.md is ${newest?.version}, but the version is ${version}.`,
    newest?.date === undefined && 'The newest section of CHANGELOG.md has no date.',
    newest?.text === '' && 'The newest section of CHANGELOG.md is empty.',
    unreleased?.text !== '' && 'CHANGELOG.md has unreleased changes: move them into the section of the version.',
  ].filter((fault) => fault !== false);
}
