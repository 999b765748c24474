// The default theme with the colours of the product, and the two commands on the first page.
import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'
import './style.css'

const commands = [
  ['./cairn serve', 'runs the server'],
  ['./test', 'runs all tests']
]

const commandsOfTheClone = () => h('div', { class: 'commands' }, [
  h('p', 'In a clone, with the .NET SDK 10.0 on Linux:'),
  h('pre', commands.map(([command, purpose]) => h('div', [h('code', command), h('span', purpose)])))
])

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-info-after': commandsOfTheClone })
}
