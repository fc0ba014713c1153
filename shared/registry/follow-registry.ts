import { readFile } from 'node:fs/promises';
import { ConfigError } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import { parseRegistry } from './parse-registry.ts';
import { readRegistryText } from './read-registry.ts';
import { emptyRegistry, type Registry } from './registry.ts';

/** Milliseconds between two looks at the file. Reading it works on every file system and however an editor saves. */
const lookMs = 1_000;

/** The registry as it is now. */
export interface LiveRegistry {
  current(): Registry;
  close(): void;
}

/**
 * Reads the registry file and reads it again when it changes. A bad edit keeps what was there and says why in the log.
 * @param file without one the registry is empty, for ever
 * @throws ConfigError when the file is missing or bad at the start
 */
export function followRegistry(file: string | undefined, log: Logger): LiveRegistry {
  if (file === undefined) return { current: () => emptyRegistry, close: () => undefined };
  let seen = readRegistryText(file);
  let registry = parseRegistry(seen, file);

  const look = async (): Promise<void> => {
    try {
      const text = await readFile(file, 'utf8');
      if (text === seen) return;
      seen = text;
      registry = parseRegistry(text, file);
      log.info({ file, names: Object.keys(registry.models).length }, 'the registry was read again');
    } catch (error) {
      if (error instanceof ConfigError)
        log.error({ err: error, file }, 'the registry cannot be used: the old one stays');
      else log.warn({ err: error, file }, 'the registry cannot be read right now');
    }
  };
  const timer = setInterval(() => void look(), lookMs);
  return { current: () => registry, close: () => clearInterval(timer) };
}
