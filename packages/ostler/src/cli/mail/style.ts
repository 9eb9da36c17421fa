import { styleText } from 'node:util';

export type StyleText = (style: 'bold' | 'dim' | 'green' | 'yellow', text: string) => string;

export const colours: StyleText = (style, text) => styleText(style, text);
export const plain: StyleText = (_style, text) => text;
