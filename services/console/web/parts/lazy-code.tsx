import { lazy, type ComponentType } from 'react';

/** Milliseconds before each further try to load code. Loading is tried again because the router may be restarting. */
const waitsMs = [500, 1_000, 2_000, 4_000];

/**
 * The messages of browsers for code that could not be fetched. The messages of Chromium and Firefox contain the code's URL, Safari's does
 * not.
 */
const notFetchedMessage = /dynamically imported module(?:: (?<address>\S+))?|module script failed/i;

export interface LazyCode<Props> {
  /** Shows the component once its code is loaded, and suspends until then. */
  Code: ComponentType<Props>;
  /** Loads the code before the component is shown. Resolves even if loading fails. */
  preload: () => Promise<void>;
}

/**
 * One function for each component with code that could not be loaded. It creates the component anew, because React never tries again after
 * a failure.
 */
const recreators = new Set<() => void>();

/** Makes failed code load again when its component is shown next. Call this only after the failure is shown. */
export function resetFailedCode(): void {
  for (const recreate of recreators) recreate();
  recreators.clear();
}

/**
 * Creates a component that loads its code when it is first shown.
 * @param load imports the module
 */
export function createLazyCode<Module extends object, Props extends object>(
  load: () => Promise<Module>,
  findComponent: (module: Module) => ComponentType<Props>,
): LazyCode<Props> {
  let loading: Promise<{ default: ComponentType<Props> }> | undefined;
  const loadOnce = (): Promise<{ default: ComponentType<Props> }> => {
    loading ??= importWithRetries(load, findComponent).then(
      (component) => {
        recreators.delete(recreate);
        return { default: component };
      },
      (error: unknown) => {
        loading = undefined;
        recreators.add(recreate);
        throw error;
      },
    );
    return loading;
  };
  let Current = lazy(loadOnce);
  const recreate = (): void => void (Current = lazy(loadOnce));
  return {
    Code: (props) => <Current {...props} />,
    preload: () =>
      loadOnce().then(
        () => undefined,
        () => undefined,
      ),
  };
}

/** Imports a module and returns the component in it. Tries again for a few seconds while the module cannot be fetched. */
async function importWithRetries<Module, Component>(
  load: () => Promise<Module>,
  findComponent: (module: Module) => Component | undefined,
): Promise<Component> {
  let importModule = load;
  for (let count = 0; ; count += 1) {
    try {
      const component = findComponent(await importModule());
      if (component) return component;
      throw new Error('The code of this page is incomplete.');
    } catch (error) {
      const fetchFailure = error instanceof Error ? notFetchedMessage.exec(error.message) : null;
      const waitMs = waitsMs[count];
      if (!fetchFailure || waitMs === undefined) throw error;
      const address = fetchFailure.groups?.['address']?.replace(/\?.*/, '');
      // Chromium caches the failure to fetch a URL, so another URL is imported.
      if (address !== undefined) importModule = () => import(/* @vite-ignore */ `${address}?again=${count}`);
      await new Promise((resolve) => window.setTimeout(resolve, waitMs));
    }
  }
}
