import { Listeners } from '#shared/core/listeners.ts';
import type { Logger } from '#shared/core/log.ts';
import type { LiveRegistry } from './follow-registry.ts';
import { emptyRegistry, registrySchema, type Registry } from './registry.ts';

/** Milliseconds between two checks for a new version. The checks are needed because the signal of a new version may be lost. */
const pollMs = 3_000;

/**
 * A stored version: its number, and the digest of its text. If the store is replaced, the digest distinguishes two versions with the same
 * number.
 */
export interface StoredVersion {
  number: number;
  etag: string;
}

/** The store of versions. All methods may reject. */
export interface VersionSource {
  /** Returns the newest version; undefined if there is none. */
  findNewest: () => Promise<StoredVersion | undefined>;
  /** Returns the newest version before this number; undefined if there is none. */
  findBefore: (number: number) => Promise<StoredVersion | undefined>;
  /** Returns the content of a version; undefined if it was removed. */
  readConfig: (number: number) => Promise<unknown>;
}

export interface StoredRegistry extends LiveRegistry {
  /** Returns the version in use; undefined while the empty registry is in use. */
  version(): StoredVersion | undefined;
  /** Checks for a new version now. Never rejects. */
  refresh(): Promise<void>;
}

/**
 * Follows the stored versions of the registry: uses the newest version, and then every newer version. The version in use stays in use while
 * the store is unavailable, after the store was emptied, and if the newest version is not valid for this release. A process without a
 * version in use takes the newest version that is valid for this release.
 */
export async function followStoredRegistry(source: VersionSource, log: Logger): Promise<StoredRegistry> {
  let inUse: { version?: StoredVersion; registry: Registry; shownContent: Record<string, unknown> } = {
    registry: emptyRegistry,
    shownContent: {},
  };
  /** The last version that was read, whether or not it was valid. */
  let lastRead: StoredVersion | undefined;
  let isUnavailable = false;
  const listeners = new Listeners('the registry has changed', log);

  /** Reads a version, and uses it if it is valid for this release. */
  const tryToUse = async (version: StoredVersion): Promise<'used' | 'invalid' | 'gone'> => {
    const config = await source.readConfig(version.number);
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
    inUse = { version, registry, shownContent: config as Record<string, unknown> };
    log.info({ version: version.number, names: Object.keys(registry.models).length }, 'the registry was reloaded');
    listeners.call();
    return 'used';
  };

  const useNewest = async (): Promise<void> => {
    const newest = await source.findNewest();
    if (newest === undefined || isSame(newest, lastRead)) return;
    const outcome = await tryToUse(newest);
    // The version was removed meanwhile, so there is a newer one.
    if (outcome === 'gone') return;
    let earlier =
      outcome === 'invalid' && inUse.version === undefined ? await source.findBefore(newest.number) : undefined;
    while (earlier && (await tryToUse(earlier)) !== 'used') earlier = await source.findBefore(earlier.number);
    lastRead = newest;
  };

  const tryToUseNewest = async (): Promise<void> => {
    try {
      await useNewest();
      if (isUnavailable) log.info('the stored registry can be read again');
      isUnavailable = false;
    } catch (error) {
      if (!isUnavailable) log.warn({ err: error, inUse: inUse.version?.number }, 'the stored registry cannot be read');
      isUnavailable = true;
    }
  };

  /**
   * The end of the last check. Checks run one after the other, so a check finds every version that was stored during the previous check.
   */
  let lastCheck = Promise.resolve();
  const refresh = (): Promise<void> => (lastCheck = lastCheck.then(tryToUseNewest));
  await refresh();
  const timer = setInterval(() => void refresh(), pollMs);
  return {
    current: () => inUse.registry,
    readShownSections: () => inUse.shownContent,
    version: () => inUse.version,
    onChange: (listener) => void listeners.add(listener),
    refresh,
    close: () => clearInterval(timer),
  };
}

function isSame(a: StoredVersion, b: StoredVersion | undefined): boolean {
  return a.number === b?.number && a.etag === b.etag;
}
