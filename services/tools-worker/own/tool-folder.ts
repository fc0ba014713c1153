import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';
import type { ToolSource } from '../name-tools.ts';
import { OwnTool } from './define-tool.ts';
import { scanFolder, type ToolFile } from './scan-folder.ts';
import { hookToolModules, createVersionedUrl } from './tool-module-hook.ts';

/** Milliseconds between two scans of the folder. Scans replace change notifications, which do not work on network disks and mounts. */
const pollMs = 500;

/** Maximum milliseconds for loading a file. Its top level could wait forever. */
const loadMs = 10_000;

interface LoadedFile {
  version: string;
  /** The tool from the last version of the file that could be loaded. */
  tool: OwnTool | undefined;
}

/**
 * The tools of a folder, one per file. A changed file is loaded again. If a file cannot be loaded, its last good tool stays, and the reason
 * is logged. Tools run in this process, so the folder must be as trusted as the router.
 */
export class ToolFolder implements ToolSource {
  readonly prefix = undefined;
  readonly available = true;
  readonly #folder: string;
  readonly #log: Logger;
  readonly #loadedFiles = new Map<string, LoadedFile>();
  readonly #closing = new AbortController();
  readonly #unhook: () => void;
  #polling: Promise<void> | undefined;
  #lastFailure = '';

  constructor(folder: string, log: Logger) {
    this.#folder = resolve(folder);
    this.#log = log;
    this.#unhook = hookToolModules(`${pathToFileURL(this.#folder).href}/`);
  }

  get tools(): readonly OwnTool[] {
    return [...this.#loadedFiles.values()].flatMap(({ tool }) => tool ?? []);
  }

  /**
   * Loads the tools. From then on, loads a tool again when its file has changed.
   * @param onChange called when the tools have changed
   */
  async start(onChange: () => void): Promise<void> {
    await this.#reload();
    this.#polling = this.#poll(onChange);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#polling;
    this.#unhook();
  }

  async #poll(onChange: () => void): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(pollMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted && (await this.#reload())) onChange();
    }
  }

  /** @returns whether a tool was added, removed or changed */
  async #reload(): Promise<boolean> {
    const files = await this.#scan();
    if (!files) return false;
    let changed = false;
    for (const name of this.#findRemovedFiles(files)) {
      this.#loadedFiles.delete(name);
      changed = true;
    }
    for (const file of files) {
      const loadedFile = this.#loadedFiles.get(file.name);
      if (loadedFile?.version === file.version) continue;
      const tool = await this.#load(file);
      this.#loadedFiles.set(file.name, { version: file.version, tool: tool ?? loadedFile?.tool });
      changed ||= tool !== undefined;
    }
    return changed;
  }

  #findRemovedFiles(files: readonly ToolFile[]): string[] {
    const names = new Set(files.map(({ name }) => name));
    return [...this.#loadedFiles.keys()].filter((name) => !names.has(name));
  }

  /** Lists the files. Returns undefined for a folder that cannot be read, so that its tools stay. Logs the same reason only once. */
  async #scan(): Promise<ToolFile[] | undefined> {
    try {
      const files = await scanFolder(this.#folder);
      this.#lastFailure = '';
      return files;
    } catch (error) {
      const failure = String(error);
      if (failure !== this.#lastFailure) {
        this.#log.error({ err: error, folder: this.#folder }, 'the folder of tools cannot be read');
      }
      this.#lastFailure = failure;
      return undefined;
    }
  }

  async #load({ name, path, version }: ToolFile): Promise<OwnTool | undefined> {
    const timer = new AbortController();
    try {
      const timeLimit = sleep(loadMs, undefined, { signal: timer.signal }).then(() => {
        throw new Error(`it was not loaded within ${loadMs / 1000} seconds`);
      });
      const loading = import(createVersionedUrl(pathToFileURL(path).href, version)) as Promise<{ tool?: unknown }>;
      const { tool } = await Promise.race([loading, timeLimit]);
      if (!(tool instanceof OwnTool)) throw new Error('it does not export a `tool` made with defineTool');
      this.#log.info({ file: name, tool: tool.name }, 'tool loaded');
      return tool;
    } catch (error) {
      const kept = this.#loadedFiles.get(name)?.tool?.name;
      this.#log.error({ err: error, file: name, kept }, 'a tool could not be loaded');
      return undefined;
    } finally {
      timer.abort();
    }
  }
}
