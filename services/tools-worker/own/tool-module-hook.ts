import { registerHooks } from 'node:module';

/** Name of the module that a tool's file imports. It is the same in every folder. */
const toolModuleName = 'model-router/tool';
const toolModuleUrl = new URL('define-tool.ts', import.meta.url).href;

/** Query string that makes each version of a file a separate module. */
const versionQuery = /\?rtr-version=[\da-f]+$/;

/**
 * Makes `model-router/tool` importable from the files of a folder. When such a file imports another file of the folder, adds the version of
 * the importing file to the URL of the imported file. Node's module cache has no other way to load a file again.
 * @param folder URL of the folder, ending with a slash
 * @returns a function that removes the hook
 */
export function hookToolModules(folder: string): () => void {
  const hooks = registerHooks({
    resolve: (requestedModule, context, nextResolve) => {
      if (requestedModule === toolModuleName)
        return { url: toolModuleUrl, format: 'module-typescript', shortCircuit: true };
      const resolvedModule = nextResolve(requestedModule, context);
      const [version] = versionQuery.exec(context.parentURL ?? '') ?? [];
      const isInFolder = resolvedModule.url.startsWith(folder) && !resolvedModule.url.includes('/node_modules/');
      return version !== undefined && isInFolder && !versionQuery.test(resolvedModule.url)
        ? { ...resolvedModule, url: resolvedModule.url + version }
        : resolvedModule;
    },
  });
  return () => hooks.deregister();
}

/**
 * Returns the URL of one version of a file.
 * @param version hexadecimal digits
 */
export function createVersionedUrl(file: string, version: string): string {
  return `${file}?rtr-version=${version}`;
}
