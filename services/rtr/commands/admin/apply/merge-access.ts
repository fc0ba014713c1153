import { RouterError } from '#shared/core/errors.ts';
import type { AccessFile } from './read-access.ts';

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/**
 * Merges several files into one.
 * @throws RouterError for an object that two files name
 */
export function mergeAccess(files: readonly AccessFile[]): AccessFile {
  const fileByPlace = new Map<string, AccessFile>();
  const merged: Record<string, Record<string, unknown>> = {};
  for (const file of files) {
    for (const [section, objects] of Object.entries(file.access as Sections)) {
      const mergedSection = (merged[section] ??= {});
      for (const [name, object] of Object.entries(objects ?? {})) {
        const place = JSON.stringify([section, name]);
        const otherFile = fileByPlace.get(place);
        if (otherFile) {
          const [first, second] = [otherFile, file].map(
            (source) => source.createError([section, name], 'is named here').message,
          );
          const message = `${section}.${name} is named in two files, but may be in only one:\n${first}\n${second}`;
          throw new RouterError('invalid_request', message);
        }
        fileByPlace.set(place, file);
        mergedSection[name] = object;
      }
    }
  }
  const [first] = files;
  return {
    access: merged,
    createError: (path, message) => {
      const file = fileByPlace.get(JSON.stringify(path.slice(0, 2))) ?? first;
      return file ? file.createError(path, message) : new RouterError('invalid_request', message);
    },
  };
}
