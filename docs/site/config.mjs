import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCssVariablesTheme } from 'shiki';
import { defineConfig } from 'vitepress';

/*
 * The site: every page of the documentation in a group, search without a server, nothing from other hosts, and neither scripts nor styles
 * within the HTML, so that the pages' policy needs no exception.
 */

const base = '/docs/';
const pages = join(import.meta.dirname, '..', 'pages');

/** The pages of the menu by group, without `.md`. A page without a group is shown at the end. */
const groups = {
  Begin: ['index', 'configuration', 'agents-and-providers', 'tools'],
  Use: ['api', 'translation', 'webhooks'],
  People: ['accounts', 'sign-in', 'admin-api'],
  Operate: ['operations', 'boxes', 'upgrades', 'performance', 'security', 'changelog'],
  Inside: ['architecture', 'contributing', 'releasing', 'glossary', 'decisions/index'],
};

/** @param {string} page */
function titleOf(page) {
  return /^# (.+)$/m.exec(readFileSync(join(pages, `${page}.md`), 'utf8'))?.[1] ?? page;
}

/** @param {string} page */
function toMenuItem(page) {
  return { text: titleOf(page), link: `/${page.replace(/(^|\/)index$/, '$1')}` };
}

const decisions = readdirSync(join(pages, 'decisions'))
  .filter((file) => /^\d{4}/.test(file))
  .toSorted()
  .map((file) => `decisions/${file.slice(0, -3)}`);

const menu = Object.entries(groups).map(([text, names]) => ({ text, items: names.map(toMenuItem) }));

const listed = new Set(Object.values(groups).flat());
const others = readdirSync(pages)
  .filter((file) => file.endsWith('.md') && !listed.has(file.slice(0, -3)))
  .map((file) => file.slice(0, -3));
if (others.length > 0) menu.push({ text: 'More', items: others.map(toMenuItem) });

/**
 * Makes anchors as GitHub does.
 * @param {string} heading
 */
function toAnchor(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

/**
 * Removes the list of all files, in which every word is.
 * @param {string} source
 */
function withoutIndex(source) {
  return source
    .split(/^(?=## )/m)
    .filter((section) => !section.startsWith('## Index of files'))
    .join('');
}

/** Colours of code by class instead of by style. The theme names variables, such as `--code-token-string`. */
const withoutStyles = {
  name: 'without-styles',
  pre(node) {
    delete node.properties.style;
  },
  span(node) {
    const kind = /--code-(?:token-)?([\w-]+)/.exec(node.properties.style ?? '')?.[1];
    delete node.properties.style;
    if (kind) this.addClassToHast(node, `code-${kind}`);
  },
};

export default defineConfig({
  base,
  srcDir: 'pages',
  title: 'Model Router',
  description: 'One address in front of all the language models you can reach.',
  cleanUrls: true,
  // Otherwise, a style element stops transitions while the colours change.
  appearance: { disableTransition: false },
  // The hashes of pages are in a file, and not in a script of every page.
  metaChunk: true,
  markdown: {
    anchor: { slugify: toAnchor },
    attrs: { disable: true },
    theme: createCssVariablesTheme({ name: 'variables', variablePrefix: '--code-' }),
    codeTransformers: [withoutStyles],
  },
  vite: { build: { assetsInlineLimit: 0 } },
  transformHtml(html, _page, { siteConfig: { outDir } }) {
    return html
      .replaceAll(/ style="[^"]*"/g, '')
      .replaceAll(/<script(?<attributes>[^>]*)>(?<code>[^<]+)<\/script>/g, (_, attributes, code) => {
        const name = `assets/start-${createHash('sha256').update(code).digest('hex').slice(0, 8)}.js`;
        mkdirSync(join(outDir, 'assets'), { recursive: true });
        writeFileSync(join(outDir, name), code);
        return `<script${attributes} src="${base}${name}"></script>`;
      });
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        // Every word must be there. No functions: the pages' policy forbids the browser to make them from text.
        miniSearch: { searchOptions: { combineWith: 'AND', fuzzy: 0.1, boost: { title: 4, titles: 2, text: 1 } } },
        _render: (source, env, markdown) => markdown.render(withoutIndex(source), env),
      },
    },
    outline: { level: [2, 3], label: 'On this page' },
    nav: [{ text: 'Console', link: '/', target: '_self' }],
    sidebar: {
      '/': menu,
      '/decisions/': [...menu, { text: 'Decisions', items: decisions.map(toMenuItem) }],
    },
  },
});
