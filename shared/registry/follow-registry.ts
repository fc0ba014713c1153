import { readFile } from 'node:fs/promises';
import { Listeners } from '#shared/core/listeners.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import { parseRegistryFile, readRegistryText } from './read-registry.ts';
import type { Registry } from './registry.ts';

/** Milliseconds between two reads of the file. Polling works on every file system and with every editor. */
const pollMs = 1_000;

export interface LiveRegistry {
  current(): Registry;
  /** Returns the content of the `shownSections` of the registry in use, as it was written. */
  readShownSections(): Readonly<Record<string, unknown>>;
  /** Calls the listener after each change of the registry in use. */
  onChange(listener: () => void): void;
  close(): void;
}

/**
 * Reads the registry file, and reads it again when it changes. If the changed file is invalid, the previous registry stays in use, and the
 * mistake is logged.
 * @throws ConfigError if the file is missing or invalid at the start
 */
export function followRegistry(file: string, log: Logger): LiveRegistry {
  let lastText = readRegistryText(file);
  let parsedFile = parseRegistryFile(lastText, file);

  const listeners = new Listeners('the registry has changed', log);
  const poll = async (): Promise<void> => {
    try {
      const text = await readFile(file, 'utf8');
      if (text === lastText) return;
      lastText = text;
      parsedFile = parseRegistryFile(text, file);
      log.info({ file, names: Object.keys(parsedFile.registry.models).length }, 'the registry was reloaded');
      listeners.call();
    } catch (error) {
      if (error instanceof ConfigError)
        log.error({ err: error, file }, 'the registry is invalid: the previous one stays in use');
      else log.warn({ err: error, file }, 'the registry cannot be read: the previous one stays in use');
    }
  };
  const timer = setInterval(() => void poll(), pollMs);
  return {
    current: () => parsedFile.registry,
    readShownSections: () => parsedFile.shownContent,
    onChange: (listener) => void listeners.add(listener),
    close: () => clearInterval(timer),
  };
}
