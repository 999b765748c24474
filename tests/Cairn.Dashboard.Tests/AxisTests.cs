using Cairn.Dashboard.Tests.Browsing;
using Cairn.Dashboard.Tests.Serving;

namespace Cairn.Dashboard.Tests;

/// <summary>Labels of axes name the values at which they stand.</summary>
[Collection(Browser.Collection)]
public sealed class AxisTests(Browser browser)
{
    // The largest values of charts, over all magnitudes that figures have.
    private const string Most = "[...Array(220)].map((_, i) => 0.03 * 1.21 ** i).concat([1, 2, 4, 1024, 1048576, 1e6, 5e9])";

    [RequiresToolFact("chromium")]
    public async Task Steps_of_bytes_are_powers_of_two()
    {
        string[] wrong = await AskAsync(
            $$"""
            {{Most}}.filter(most => most >= 1).flatMap(most => {
              const marks = charts.ticks(most, format.axes.bytes);
              const step = marks[1] - marks[0];
              return Number.isInteger(Math.log2(step)) && marks.length >= 2 && marks.length <= 6 && marks.at(-1) >= most ? [] : [`${most}: ${marks}`];
            })
            """);

        Assert.Empty(wrong);
    }

    [RequiresToolFact("chromium")]
    public async Task Every_label_says_the_value_that_it_stands_beside()
    {
        string[] wrong = await AskAsync(
            $$"""
            Object.entries(format.axes).flatMap(([name, axis]) => {{Most}}.filter(most => name !== 'percent' || most < 1).flatMap(most => {
              const units = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, '%': 0.01, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
                'B/s': 1, 'KiB/s': 2 ** 10, 'MiB/s': 2 ** 20, 'GiB/s': 2 ** 30, 'TiB/s': 2 ** 40, ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9 };
              return charts.ticks(most, axis).flatMap(mark => {
                const [, number, unit] = /^([\d.,]+)\s*(\S*)$/.exec(axis.label(mark)) ?? [];
                const told = Number(number?.replaceAll(',', '')) * units[unit];
                return Math.abs(told - mark) <= Math.abs(mark) * 1e-9 ? [] : [`${name} ${most}: ${mark} is labelled ${axis.label(mark)}`];
              });
            }))
            """);

        Assert.Empty(wrong);
    }

    private async Task<string[]> AskAsync(string expression)
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);
        return await page.Page.EvaluateAsync<string[]>(
            $"async () => {{ const charts = await import('./charts.js'), format = await import('./format.js'); return {expression}; }}");
    }
}
