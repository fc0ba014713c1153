/**
 * The description of the router's web search for models without a search of their own. The router cites a search result where the answer
 * links to it, so the text asks for links (see decision 0017).
 */
export const searchDescription =
  'Searches the web and returns the pages that it finds, each with its title, its address and a text. ' +
  'An answer that rests on a page links to it in Markdown: [title](address).';
