using System.Collections.Concurrent;
using System.Text.Json;
using Cairn.Dashboard.Tests.Browsing;
using Cairn.Dashboard.Tests.Serving;
using Microsoft.Playwright;
using static Microsoft.Playwright.Assertions;

namespace Cairn.Dashboard.Tests;

/// <summary>The time span of the charts, and the pause button.</summary>
[Collection(Browser.Collection)]
public sealed class PaceTests(Browser browser)
{
    [RequiresToolFact("chromium")]
    public async Task Charts_show_five_minutes_an_hour_or_a_day()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.MakeBusy();
        server.Wait(TimeSpan.FromHours(23));
        server.MakeBusy();
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);

        foreach ((string name, int minutes, string each) in ((string, int, string)[])[("5 min", 5, "second"), ("1 h", 60, "10 s"), ("24 h", 1440, "2 min")])
        {
            await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = name, Exact = true }).ClickAsync();

            await Expect(page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = name, Exact = true })).ToHaveAttributeAsync("aria-pressed", "true");
            ILocator chart = page.Page.Locator(".chart-card").First;
            await Expect(chart).ToHaveAttributeAsync("data-minutes", $"{minutes}");
            await Expect(page.Page.Locator("#each")).ToContainTextAsync(each);
            await page.PictureAsync($"overview-{minutes}-light-large");
        }

        // The burst of 23 hours ago is in the left twentieth of the chart.
        string path = (await page.Page.Locator(".chart-card").First.Locator("path.line").First.GetAttributeAsync("d"))!;
        double first = double.Parse(path[1..path.IndexOf(' ', StringComparison.Ordinal)], System.Globalization.CultureInfo.InvariantCulture);
        Assert.InRange(first, 30, 130);

        // Between the bursts no request was a hit or a miss. So neither line nor area shows a ratio there.
        ILocator ratio = page.Page.Locator(".chart-card").Nth(1);
        foreach (string kind in (string[])["line", "area"])
        {
            string drawn = (await ratio.Locator($"path.{kind}").GetAttributeAsync("d"))!;
            Assert.InRange(drawn.Count(letter => letter == 'M'), 2, 4);
        }

        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Page_that_is_paused_requests_nothing_until_it_continues()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);
        await Expect(page.Page.Locator("#state")).ToHaveTextAsync("Live");
        ILocator button = page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Pause" });

        await button.ClickAsync();
        await Expect(page.Page.Locator("#state")).ToContainTextAsync("Paused at");
        await Expect(button).ToHaveAttributeAsync("aria-pressed", "true");
        await page.ShowAsync("Commands");
        await Expect(page.Page.Locator("text=No requests yet")).ToBeVisibleAsync(); // A view without data sends one request.
        await page.ShowAsync("Overview");
        var asked = new ConcurrentQueue<string>();
        page.Page.Request += (_, request) =>
        {
            if (request.Url.Contains("/api/", StringComparison.Ordinal)) // The browser loads the icon of the page when it wants.
            {
                asked.Enqueue(request.Url);
            }
        };
        await page.Page.EvaluateAsync("() => new Promise(done => { let left = 3; const timer = setInterval(() => { if (--left === 0) { clearInterval(timer); done(); } }, 1000); })");
        Assert.Empty(asked);

        await page.Page.RunAndWaitForRequestAsync(() => button.ClickAsync(), request => request.Url.Contains("/api/live", StringComparison.Ordinal));
        await Expect(page.Page.Locator("#state")).ToHaveTextAsync("Live");
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Latencies_are_named_p50_p95_and_p99()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.MakeBusy();
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);

        ILocator chart = page.Page.GetByRole(AriaRole.Region, new PageGetByRoleOptions { Name = "Latency" });
        await Expect(chart.Locator(".legend li")).ToContainTextAsync((string[])["p99", "p95", "p50"]);
        await Expect(page.Page.Locator(".tile").Filter(new LocatorFilterOptions { HasText = "Latency" })).ToContainTextAsync("p99");
        await page.ShowAsync("Commands");
        foreach (string name in (string[])["p50", "p95", "p99", "p99.9"])
        {
            await Expect(page.Page.GetByRole(AriaRole.Columnheader, new PageGetByRoleOptions { Name = name, Exact = true })).ToBeVisibleAsync();
        }
    }

    [RequiresToolFact("chromium")]
    public async Task One_of_a_thing_is_named_in_the_singular_in_every_view()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync((options, _) => options with { SlowThreshold = TimeSpan.Zero });
        server.Send("HSET", "h", "f", "v");
        await using WatchedPage page = await browser.OpenAsync();
        await page.Page.RouteAsync("**/api/**", async route =>
        {
            // Replaces all counts by 1.
            IAPIResponse response = await route.FetchAsync();
            string text = await response.TextAsync();
            await route.FulfillAsync(new RouteFulfillOptions
            {
                Response = response,
                Body = System.Text.RegularExpressions.Regex.Replace(
                    text, """
                    "(entries|total|accepted|refused|connections|connectionLimit|workers|openings|partitions|indexSlots|fieldCount|valueBytes|slowRequests|samples|count|segments|evictions|ghostHits)":[0-9]+
                    """.Trim(), """
                    "$1":1
                    """.Trim()),
            });
        });
        await page.GoAsync(server.Address);
        foreach (string title in (string[])["Overview", "Commands", "Memory", "Top keys", "Slow log", "Connections", "Keys"])
        {
            await page.ShowAsync(title);
            await Expect(page.Heading).ToHaveTextAsync(title);
            if (title == "Memory")
            {
                await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Look at every entry" }).ClickAsync();
                await Expect(page.Page.GetByRole(AriaRole.Table, new PageGetByRoleOptions { Name = "Biggest keys" })).ToBeVisibleAsync();
            }
            else if (title == "Keys")
            {
                await KeyViewTests.ChooseAsync(page, "h");
            }
            else if (title != "Overview")
            {
                await Expect(page.Page.Locator("main table").First).ToBeVisibleAsync();
            }

            string[] wrong = await page.Page.EvaluateAsync<string[]>(
                """
                () => [...document.body.innerText.matchAll(/(?<![\d.,])1 (keys|entries|fields|bytes|segments|connections|requests|workers|samples|evictions|processes|changes)\b/g)].map(match => match[0])
                """);
            Assert.True(wrong.Length == 0, $"{title}: {string.Join(", ", wrong)}");
        }

        page.AssertNoProblems();
    }
}
