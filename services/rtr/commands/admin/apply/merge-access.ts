import { RouterError } from '#shared/core/errors.ts';
import type { AccessFile } from './read-access.ts';

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/**
 * Joins several files into one.
 * @throws RouterError for an object that two files name
 */
export function mergeAccess(files: readonly AccessFile[]): AccessFile {
  const fileByPlace = new Map<string, AccessFile>();
  const merged: Record<string, Record<string, unknown>> = {};
  for (const file of files) {
    for (const [section, things] of Object.entries(file.access as Sections)) {
      const into = (merged[section] ??= {});
      for (const [name, thing] of Object.entries(things ?? {})) {
        const place = JSON.stringify([section, name]);
        const other = fileByPlace.get(place);
        if (other) {
          const [first, second] = [other, file].map((each) => each.mistake([section, name], 'is named here').message);
          const message = `${section}.${name} is named in two files, and may be in one:\n${first}\n${second}`;
          throw new RouterError('invalid_request', message);
        }
        fileByPlace.set(place, file);
        into[name] = thing;
      }
    }
  }
  const [first] = files;
  return {
    access: merged,
    mistake: (path, message) => {
      const file = fileByPlace.get(JSON.stringify(path.slice(0, 2))) ?? first;
      return file ? file.mistake(path, message) : new RouterError('invalid_request', message);
    },
  };
}
