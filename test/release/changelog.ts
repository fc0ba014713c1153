import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** A section of the changelog. */
export interface ChangelogSection {
  version: string;
  /** `2026-12-01`; undefined for what is not released yet. */
  date: string | undefined;
  /** The text below the heading. */
  text: string;
}

/** Reads the sections of CHANGELOG.md, the newest first. */
export function readChangelog(): ChangelogSection[] {
  const [, ...sections] = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  return sections.map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    const { version = '', date } =
      /^\[(?<version>[^\]]+)\](?: - (?<date>\d{4}-\d{2}-\d{2}))?$/.exec(heading)?.groups ?? {};
    return { version, date, text: lines.join('\n').trim() };
  });
}
