import type { ReactNode } from 'react';
import type { ExtraProps } from 'react-markdown';
import { Copy } from '../../parts/copy.tsx';

const maxLanguageCharacters = 24;

export function CodeBox({ node }: ExtraProps) {
  const code = node?.children[0];
  if (code?.type !== 'element') return null;
  const text = code.children.map((child) => (child.type === 'text' ? child.value : '')).join('');
  const classNames = code.properties['className'];
  const language = Array.isArray(classNames)
    ? String(classNames[0]).replace('language-', '').slice(0, maxLanguageCharacters)
    : '';
  return (
    <div className="code-box">
      <div className="code-head">
        <span>{language === '' ? 'Code' : language}</span>
        <Copy value={text.replace(/\n$/, '')} label="Copy code" />
      </div>
      <pre tabIndex={0} role="group" aria-label={language === '' ? 'Code' : `Code: ${language}`}>
        <code>{text}</code>
      </pre>
    </div>
  );
}

/**
 * Shows a link of an answer, which opens in a new tab. The host of the link follows the text, unless the text is a URL at this host. A link
 * into the console, or with a scheme other than http and https, is shown as text.
 */
export function ForeignLink({ href, children }: { href: string | undefined; children: ReactNode }) {
  const host = findForeignHost(href);
  if (host === undefined) return <span>{children}</span>;
  return (
    <>
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
      {showsHost(children, host) ? null : <span className="prose-host"> ({host})</span>}
    </>
  );
}

/** Returns whether a link's text is a URL at this host, with or without a scheme. A host in the path of the URL does not count. */
function showsHost(text: ReactNode, host: string): boolean {
  if (typeof text !== 'string') return false;
  const [, shownHost] = /^(?:https?:\/\/)?([^/?#\s]+)(?:[/?#]\S*)?$/i.exec(text) ?? [];
  return shownHost?.toLowerCase() === host;
}

function findForeignHost(href = ''): string | undefined {
  if (!/^https?:\/\//i.test(href) || !URL.canParse(href)) return undefined;
  const { origin, host } = new URL(href);
  return origin === window.location.origin ? undefined : host;
}
