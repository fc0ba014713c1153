/** A password that the console accepts. */
export const goodPassword = 'violet-harbour-cricket-41';
