import { lazy, type ComponentType } from 'react';

/** Milliseconds before each further try to load code. It is tried again because the router may be restarting. */
const waitsMs = [500, 1_000, 2_000, 4_000];

/** The messages for code that could not be fetched. Those of Chromium and Firefox contain the code's URL, that of Safari does not. */
const notFetched = /dynamically imported module(?:: (?<address>\S+))?|module script failed/i;

export interface LazyCode<Props> {
  /** Shows the component when its code is loaded. Until then it suspends. */
  Code: ComponentType<Props>;
  /** Loads the code before the component is shown. Resolves even if that fails. */
  preload: () => Promise<void>;
}

/** Each function creates a component anew whose code could not be loaded, because React never tries again after a failure. */
const failed = new Set<() => void>();

/** Lets code that could not be loaded be loaded again when it is shown next. To be called only after the failure is shown. */
export function resetFailedCode(): void {
  for (const renew of failed) renew();
  failed.clear();
}

/**
 * Creates a component whose code loads when it is first shown.
 * @param load imports the module
 */
export function lazyCode<Module extends object, Props extends object>(
  load: () => Promise<Module>,
  componentOf: (module: Module) => ComponentType<Props>,
): LazyCode<Props> {
  let loading: Promise<{ default: ComponentType<Props> }> | undefined;
  const once = (): Promise<{ default: ComponentType<Props> }> => {
    loading ??= importWithRetries(load, componentOf).then(
      (component) => {
        failed.delete(renew);
        return { default: component };
      },
      (error: unknown) => {
        loading = undefined;
        failed.add(renew);
        throw error;
      },
    );
    return loading;
  };
  let Current = lazy(once);
  const renew = (): void => void (Current = lazy(once));
  return {
    Code: (props) => <Current {...props} />,
    preload: () =>
      once().then(
        () => undefined,
        () => undefined,
      ),
  };
}

/** Imports a module and returns the component in it. Tries again for a few seconds while the module cannot be fetched. */
async function importWithRetries<Module, Component>(
  load: () => Promise<Module>,
  componentOf: (module: Module) => Component | undefined,
): Promise<Component> {
  let attempt = load;
  for (let count = 0; ; count += 1) {
    try {
      const component = componentOf(await attempt());
      if (component) return component;
      throw new Error('The code of this page is incomplete.');
    } catch (error) {
      const found = error instanceof Error ? notFetched.exec(error.message) : null;
      const waitMs = waitsMs[count];
      if (!found || waitMs === undefined) throw error;
      const address = found.groups?.['address']?.replace(/\?.*/, '');
      // Chromium remembers that a URL could not be fetched, so another URL is imported.
      if (address !== undefined) attempt = () => import(/* @vite-ignore */ `${address}?again=${count}`);
      await new Promise((resolve) => window.setTimeout(resolve, waitMs));
    }
  }
}
