import Markdown from 'react-markdown';

/**
 * A model's text, rendered as Markdown. HTML stays text, links open safely, and images are left out, because they would
 * load from another host.
 */
export function Prose({ text }: { text: string }) {
  return (
    <div className="prose">
      <Markdown
        disallowedElements={['img']}
        components={{
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noreferrer noopener">
              {children}
            </a>
          ),
          pre: ({ children }) => (
            <pre tabIndex={0} role="group" aria-label="Code">
              {children}
            </pre>
          ),
        }}
      >
        {text}
      </Markdown>
    </div>
  );
}
