/**
 * How models without a web search get to know the router's. Results are cited where the answer links to them, so it asks for links;
 * see decision 0017.
 */
export const searchDescription =
  'Searches the web and returns the pages that it finds, each with its title, its address and a text. ' +
  'An answer that rests on a page links to it in Markdown: [title](address).';
