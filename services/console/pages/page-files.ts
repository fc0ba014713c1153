import { readFile, readdir, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

/** A file of the built pages in memory, both plain and compressed. */
export interface PageFile {
  type: string;
  /** Whether the name changes with the content, so that browsers may cache the file forever. */
  isHashed: boolean;
  plain: Buffer;
  br: Buffer | undefined;
  gzip: Buffer | undefined;
}

export interface Pages {
  /** The files by path, for example `/assets/index-a1b2.js`, except the first page. */
  files: ReadonlyMap<string, PageFile>;
  /** The first page; in the console, the HTML page of every path. */
  index: PageFile;
}

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** Keeps the built pages in memory, about a megabyte of the console and eight of the documentation, and reads them again after a new build. */
export class PageFolder {
  readonly #folder: string;
  #pages: Pages | undefined;
  /** The inode and modification time of the index that was read last. */
  #loadedVersion = '';

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the current pages, and reads them if they were built again; undefined if they are not built. */
  async load(): Promise<Pages | undefined> {
    try {
      const { ino, mtimeMs } = await stat(join(this.#folder, 'index.html'));
      const version = `${ino} ${mtimeMs}`;
      if (version !== this.#loadedVersion) {
        this.#pages = await readPages(this.#folder);
        this.#loadedVersion = version;
      }
    } catch (error) {
      // While the folder is being replaced, the pages in memory are served.
      if (!isMissing(error)) throw error;
    }
    return this.#pages;
  }

  /** Returns a file of the pages that were read last. */
  get(path: string): PageFile | undefined {
    return this.#pages?.files.get(path);
  }
}

async function readPages(folder: string): Promise<Pages> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = new Map<string, Buffer>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    contents.set(file.slice(folder.length).replaceAll(sep, '/'), await readFile(file));
  }
  const files = new Map<string, PageFile>();
  for (const [path, plain] of contents) {
    const type = types[extname(path)];
    if (type === undefined) continue;
    files.set(path, {
      type,
      isHashed: path.startsWith('/assets/'),
      plain,
      br: contents.get(`${path}.br`),
      gzip: contents.get(`${path}.gz`),
    });
  }
  const index = files.get('/index.html');
  if (!index) throw new Error(`${folder} has no index.html`);
  files.delete('/index.html');
  return { files, index };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
