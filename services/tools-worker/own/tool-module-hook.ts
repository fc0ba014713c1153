import { registerHooks } from 'node:module';

/** What a tool's file imports, wherever it lies. */
const specifier = 'model-router/tool';
const target = new URL('define-tool.ts', import.meta.url).href;

/** The query that makes another version of a file another module. */
const versionQuery = /\?rtr-version=[\da-f]+$/;

/**
 * Lets the files of a folder anywhere on the disk import `model-router/tool`, and what they import from the same folder
 * be as new as they are: the module cache knows no other way to forget.
 * @param folder URL of the folder, ending with a slash
 * @returns a call that takes the hook away
 */
export function hookToolModules(folder: string): () => void {
  const hooks = registerHooks({
    resolve: (wanted, context, nextResolve) => {
      if (wanted === specifier) return { url: target, format: 'module-typescript', shortCircuit: true };
      const resolved = nextResolve(wanted, context);
      const [version] = versionQuery.exec(context.parentURL ?? '') ?? [];
      const isOwn = resolved.url.startsWith(folder) && !resolved.url.includes('/node_modules/');
      return version !== undefined && isOwn && !versionQuery.test(resolved.url)
        ? { ...resolved, url: resolved.url + version }
        : resolved;
    },
  });
  return () => hooks.deregister();
}

/** The URL of one version of a file. @param version hexadecimal digits */
export function versionedUrl(file: string, version: string): string {
  return `${file}?rtr-version=${version}`;
}
