import { Component, memo, useMemo, useState, type ReactNode } from 'react';
import Markdown, { type Components, type Options } from 'react-markdown';
import { markdownTables } from './markdown-tables.ts';
import { CodeBox, ForeignLink } from './prose-parts.tsx';
import { BoundedMarkdown } from './bounded-markdown.ts';

/** The elements of an answer. Headings are one level lower than in the text, because the page has its own first heading. */
const components: Components = {
  h1: 'h2',
  h2: 'h3',
  h3: 'h4',
  h4: 'h5',
  h5: 'h6',
  a: ({ href, children }) => <ForeignLink href={href}>{children}</ForeignLink>,
  // Images are not shown, because they would load from another host.
  img: ({ alt }) => <span className="prose-image">[image{alt ? `: ${alt}` : ''}, not loaded]</span>,
  pre: ({ node }) => <CodeBox node={node} />,
  table: ({ children }) => (
    <div className="prose-table" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
};

const remarkPlugins = [markdownTables] as Options['remarkPlugins'];

/**
 * Renders a model's text as Markdown. HTML is shown as text. An image is replaced by its description. A link leads only to another host,
 * and shows this host. A text that would take long to render is shown as plain text.
 */
export const Prose = memo(function Prose({ text }: { text: string }) {
  const [markdown] = useState(
    () => new BoundedMarkdown((children) => Markdown({ remarkPlugins, components, children })),
  );
  const rendered = useMemo(() => markdown.render(text), [markdown, text]);
  return (
    <div className="prose">
      {rendered === undefined ? <PlainProse text={text} /> : <PlainOnError text={text}>{rendered}</PlainOnError>}
    </div>
  );
});

function PlainProse({ text }: { text: string }) {
  return <div className="prose-plain">{text}</div>;
}

interface PlainOnErrorProps {
  text: string;
  children: ReactNode;
}

/** Shows the plain text if its Markdown cannot be rendered, for example because the text is nested thousands of levels deep. */
class PlainOnError extends Component<PlainOnErrorProps, { isPlain: boolean }> {
  override state = { isPlain: false };

  static getDerivedStateFromError(): { isPlain: boolean } {
    return { isPlain: true };
  }

  override render(): ReactNode {
    const { text, children } = this.props;
    return this.state.isPlain ? <PlainProse text={text} /> : children;
  }
}
