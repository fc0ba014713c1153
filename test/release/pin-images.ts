/** Default images of the Compose file: `${NATS_IMAGE:-nats:2.12-alpine}`. */
const imageDefault = /(\$\{[A-Z_]*IMAGE:-)([^}]+)(\})/g;

/** Returns the names of the images of a Compose file that the router does not build. */
export function findImages(compose: string): string[] {
  const names = Array.from(compose.matchAll(imageDefault), ([, , name = '']) => name);
  return [...new Set(names)].filter((name) => !isOwn(name) && !name.startsWith('node:'));
}

/**
 * Writes a Compose file for people without the sources: nothing is built, and each image has a version or a digest.
 * @param digests the digest of each image that is known, by its name
 */
export function pinImages(compose: string, version: string, digests: ReadonlyMap<string, string>): string {
  const withoutBuild = compose
    .replace(/^ {2}build: &build\n(?: {4}.*\n)+/m, '')
    .replaceAll(/^ {4}build:.*\n(?: {6}.*\n)*/gm, '');
  return withoutBuild.replaceAll(imageDefault, (_, begin: string, name: string, end: string) => {
    if (isOwn(name)) return `${begin}${name}:${version}${end}`;
    const digest = digests.get(name);
    return `${begin}${name}${digest === undefined ? '' : `@${digest}`}${end}`;
  });
}

function isOwn(name: string): boolean {
  return /^model-router(?:-cli)?$/.test(name);
}
