import { lazy, type ComponentType } from 'react';

/** Milliseconds before each further attempt to load code: the router may be restarting. */
const waitsMs = [500, 1_000, 2_000, 4_000];

/** What Chromium and Firefox say of code that could not be fetched, with its address, and Safari without. */
const notFetched = /dynamically imported module(?:: (?<address>\S+))?|module script failed/i;

export interface LazyCode<Props> {
  /** Shows the component once its code is there; until then it suspends. */
  Code: ComponentType<Props>;
  /** Loads the code before it is shown. Resolves also when that fails. */
  preload: () => Promise<void>;
}

/** What makes the components anew whose code could not be loaded: React keeps a failure for good. */
const failed = new Set<() => void>();

/** Has code that could not be loaded load again when it is shown next. Called once the failure is shown, and not before. */
export function forgetFailedCode(): void {
  for (const renew of failed) renew();
  failed.clear();
}

/**
 * A component whose code loads when it is first shown.
 * @param load imports the module
 */
export function lazyCode<Module extends object, Props extends object>(
  load: () => Promise<Module>,
  componentOf: (module: Module) => ComponentType<Props>,
): LazyCode<Props> {
  let loading: Promise<{ default: ComponentType<Props> }> | undefined;
  const once = (): Promise<{ default: ComponentType<Props> }> => {
    loading ??= persist(load, componentOf).then(
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

/** Imports a module, again for a few seconds while it cannot be fetched, and takes the component of it. */
async function persist<Module, Component>(
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
      // Chromium remembers that an address could not be fetched: it fetches another one.
      if (address !== undefined) attempt = () => import(/* @vite-ignore */ `${address}?again=${count}`);
      await new Promise((resolve) => window.setTimeout(resolve, waitMs));
    }
  }
}
