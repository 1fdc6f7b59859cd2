// Where the page begins.
import './app/mantine.css';
import './app/colours.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/App';
import { startText } from './text';

startText();
const place = document.getElementById('page');
if (place) createRoot(place).render(<App />);
