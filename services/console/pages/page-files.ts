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
  /** The files by path, for example `/assets/index-a1b2.js`. */
  files: ReadonlyMap<string, PageFile>;
  /** The HTML page of every path of the console. */
  index: string;
}

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** The built pages in memory, about a megabyte. They are read again after a new build. While none exist, every call checks for them. */
export class PageFolder {
  readonly #folder: string;
  #pages: Pages | undefined;
  /** The inode and modification time of the index that was read last. */
  #read = '';

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the current pages; undefined when they are not built. */
  async current(): Promise<Pages | undefined> {
    try {
      const { ino, mtimeMs } = await stat(join(this.#folder, 'index.html'));
      const found = `${ino} ${mtimeMs}`;
      if (found !== this.#read) {
        this.#pages = await readPages(this.#folder);
        this.#read = found;
      }
    } catch (error) {
      // While the folder is being replaced, the pages in memory are served.
      if (!isMissing(error)) throw error;
    }
    return this.#pages;
  }

  get(path: string): PageFile | undefined {
    return this.#pages?.files.get(path);
  }
}

async function readPages(folder: string): Promise<Pages> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const read = new Map<string, Buffer>();
  for (const entry of names) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    read.set(file.slice(folder.length).replaceAll(sep, '/'), await readFile(file));
  }
  const files = new Map<string, PageFile>();
  for (const [path, plain] of read) {
    const type = types[extname(path)];
    if (type === undefined || path === '/index.html') continue;
    files.set(path, {
      type,
      isHashed: path.startsWith('/assets/'),
      plain,
      br: read.get(`${path}.br`),
      gzip: read.get(`${path}.gz`),
    });
  }
  return { files, index: String(read.get('/index.html')) };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
