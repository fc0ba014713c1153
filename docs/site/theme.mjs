// The theme without its fonts: the system's are there already.
export { default } from 'vitepress/theme-without-fonts';
import './theme.css';
