import Markdown from 'react-markdown';

/**
 * A model's text. HTML in it stays text, links are made safe, and images, which would come from another host, are left
 * out.
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
