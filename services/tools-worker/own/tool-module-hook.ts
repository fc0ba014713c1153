import { registerHooks } from 'node:module';

/** Name of the module that a tool's file imports, whatever its folder. */
const specifier = 'model-router/tool';
const target = new URL('define-tool.ts', import.meta.url).href;

/** Query string that makes each version of a file a module of its own. */
const versionQuery = /\?rtr-version=[\da-f]+$/;

/**
 * Makes `model-router/tool` importable from the files of a folder. When such a file imports another one of the folder, its version is added
 * to the URL of the other file. Node's module cache has no other way to load a file again.
 * @param folder URL of the folder, ending with a slash
 * @returns a function that removes the hook
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

/**
 * Returns the URL of one version of a file.
 * @param version hexadecimal digits
 */
export function versionedUrl(file: string, version: string): string {
  return `${file}?rtr-version=${version}`;
}
