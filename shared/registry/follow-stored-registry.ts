import type { Logger } from '#shared/core/log.ts';
import type { LiveRegistry } from './follow-registry.ts';
import { emptyRegistry, registrySchema, type Registry } from './registry.ts';

/** Milliseconds between two looks for a new version, should an announcement be lost. */
const pollMs = 3_000;

/** A stored version: its number, and the digest of its text, by which it differs from one of that number in a store that was replaced. */
export interface StoredVersion {
  number: number;
  etag: string;
}

/** Where versions are stored. All methods may fail. */
export interface VersionSource {
  /** The newest version; undefined when there is none. */
  newest: () => Promise<StoredVersion | undefined>;
  /** The newest version before that of this number; undefined when there is none. */
  before: (number: number) => Promise<StoredVersion | undefined>;
  /** What the version with this number says; undefined when it is gone. */
  configOf: (number: number) => Promise<unknown>;
}

/** A registry that follows the newest stored version. */
export interface StoredRegistry extends LiveRegistry {
  /** The version in use; undefined while it is the empty registry. */
  version(): StoredVersion | undefined;
  /** Looks for a new version now. Never throws. */
  refresh(): Promise<void>;
}

/**
 * Reads the newest stored version of the registry, and follows it. While the store is away, after it was emptied, and when the
 * newest version is not valid for this release, the version in use stays. A process that has none yet uses the newest one that it can read.
 */
export async function followStoredRegistry(source: VersionSource, log: Logger): Promise<StoredRegistry> {
  let inUse: { version?: StoredVersion; registry: Registry; shown: Record<string, unknown> } = {
    registry: emptyRegistry,
    shown: {},
  };
  /** The last version that was looked at, readable or not. */
  let seen: StoredVersion | undefined;
  let isAway = false;
  const listeners: (() => void)[] = [];

  /** Uses a version, if it is valid for this release. */
  const take = async (version: StoredVersion): Promise<'taken' | 'invalid' | 'gone'> => {
    const config = await source.configOf(version.number);
    if (config === undefined) return 'gone';
    const { data: registry, error } = registrySchema.safeParse(config);
    if (!registry) {
      const problems = error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`);
      log.error(
        { version: version.number, inUse: inUse.version?.number, problems },
        'this release cannot read the stored registry: the previous one stays in use',
      );
      return 'invalid';
    }
    inUse = { version, registry, shown: config as Record<string, unknown> };
    log.info({ version: version.number, names: Object.keys(registry.models).length }, 'the registry was reloaded');
    for (const listener of listeners) listener();
    return 'taken';
  };

  const look = async (): Promise<void> => {
    const newest = await source.newest();
    if (newest === undefined || isSame(newest, seen)) return;
    const outcome = await take(newest);
    // Gone since, so there is a newer one.
    if (outcome === 'gone') return;
    let earlier = outcome === 'invalid' && inUse.version === undefined ? await source.before(newest.number) : undefined;
    while (earlier && (await take(earlier)) !== 'taken') earlier = await source.before(earlier.number);
    seen = newest;
  };

  const tryToLook = async (): Promise<void> => {
    try {
      await look();
      if (isAway) log.info('the stored registry can be read again');
      isAway = false;
    } catch (error) {
      if (!isAway) log.warn({ err: error, inUse: inUse.version?.number }, 'the stored registry cannot be read');
      isAway = true;
    }
  };

  /** One look after the other: a change that is announced during one is found by the next. */
  let looking = Promise.resolve();
  const refresh = (): Promise<void> => (looking = looking.then(tryToLook));
  await refresh();
  const timer = setInterval(() => void refresh(), pollMs);
  return {
    current: () => inUse.registry,
    shown: () => inUse.shown,
    version: () => inUse.version,
    onChange: (listener) => void listeners.push(listener),
    refresh,
    close: () => clearInterval(timer),
  };
}

function isSame(a: StoredVersion, b: StoredVersion | undefined): boolean {
  return a.number === b?.number && a.etag === b.etag;
}
