using Cairn.Dashboard.Tests.Browsing;
using Cairn.Dashboard.Tests.Serving;
using Microsoft.Playwright;
using static Microsoft.Playwright.Assertions;

namespace Cairn.Dashboard.Tests;

/// <summary>Each view in light and dark mode, on a desktop and on a phone, with and without data.</summary>
[Collection(Browser.Collection)]
public sealed class ViewTests(Browser browser)
{
    private const int PhoneWidth = 360;

    // A view, a text that it shows without data, and a text that it shows with data.
    private static readonly (string Title, string Empty, string Busy)[] s_views =
    [
        ("Overview", ".tile .value", ".plot path.line"),
        ("Commands", "text=No requests yet", "text=memcached, text=get"),
        ("Memory", "svg.map", "text=New entries"),
        ("Keys", "text=There are no keys.", "text=book:1"),
        ("Top keys", "text=Nothing has been asked for yet", "text=book:7"),
        ("Slow log", "text=No slow requests", "text=No slow requests"),
        ("Connections", "text=No client is connected", "text=127.0.0.1"),
    ];

    [RequiresToolFact("chromium")]
    public async Task Every_view_of_an_empty_server_says_so_and_fits_on_every_screen()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync((options, _) => options with { SlowThreshold = TimeSpan.FromHours(1) });
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);

        foreach ((string title, string empty, _) in s_views)
        {
            await page.ShowAsync(title);
            await Expect(page.Heading).ToHaveTextAsync(title);
            await Expect(page.Page.Locator(empty).First).ToBeVisibleAsync();
            await LookAsync(page, title, "empty");
        }

        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Every_view_of_a_busy_server_shows_what_it_does_and_fits_on_every_screen()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync((options, _) => options with { SlowThreshold = TimeSpan.FromHours(1) });
        server.MakeBusy();
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);

        foreach ((string title, _, string busy) in s_views)
        {
            await page.ShowAsync(title);
            await Expect(page.Heading).ToHaveTextAsync(title);
            if (title == "Top keys")
            {
                await Expect(page.Page.GetByText("Nothing has been asked for yet")).ToBeVisibleAsync(); // From here on the server samples keys.
                for (int i = 0; i < 640; i++)
                {
                    server.Send("GET", "book:7");
                }
            }

            await Expect(page.Page.Locator(busy.Split(", ")[^1]).First).ToBeVisibleAsync();
            await LookAsync(page, title, "busy");
        }

        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Overview_shows_rates_of_the_last_minutes_at_once()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.MakeBusy();
        await using WatchedPage page = await browser.OpenAsync();

        await page.GoAsync(server.Address);

        await Expect(page.Page.Locator(".tile").Filter(new LocatorFilterOptions { HasText = "Requests per second" }).Locator(".value")).ToHaveTextAsync(
            new System.Text.RegularExpressions.Regex("^[1-9][0-9]*"));
        await Expect(page.Page.Locator(".tile").Filter(new LocatorFilterOptions { HasText = "Hit ratio" }).Locator(".value")).ToContainTextAsync("%");
        await page.Page.GetByText("As a table").First.ClickAsync();
        ILocator rows = page.Page.Locator(".as-table[open] tbody tr");
        await Expect(rows.First).ToBeVisibleAsync(); // The page fills the table after the click.
        Assert.InRange(await rows.CountAsync(), 10, 14);
    }

    [RequiresToolFact("chromium")]
    public async Task Overview_shows_while_a_client_records_the_requests_of_others()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);
        ILocator figure = page.Page.Locator("dl.facts > div").Filter(new LocatorFilterOptions { HasText = "Clients that record requests" }).Locator("dd");
        await Expect(figure).ToHaveTextAsync("0");

        using (server.Record())
        {
            await Expect(figure).ToHaveTextAsync("1");
        }

        await Expect(figure).ToHaveTextAsync("0");
    }

    [RequiresToolFact("chromium")]
    public async Task Survey_lists_the_biggest_keys_and_leads_to_them()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.Send("SET", "tiny", "1");
        server.Send("SET", "vast", new string('v', 100_000));
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);
        await page.ShowAsync("Memory");

        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Look at every entry" }).ClickAsync();
        ILocator first = page.Page.GetByRole(AriaRole.Table, new PageGetByRoleOptions { Name = "Biggest keys" }).Locator("tbody tr").First;
        await Expect(first).ToContainTextAsync("97.7 KiB");
        await page.PictureAsync("survey-light-large");
        await first.GetByRole(AriaRole.Link).ClickAsync();

        await Expect(page.Page.Locator(".key-title")).ToHaveTextAsync("vast");
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Entries_and_not_segments_are_counted_by_when_they_expire()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        for (int i = 0; i < 100; i++)
        {
            // All entries are in one segment.
            server.Send(i % 20 == 0 ? ["SET", $"book:{i}", "Dune"] : ["SET", $"book:{i}", "Dune", "EX", i % 20 == 1 ? "30000" : "3000"]);
        }

        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);
        await page.ShowAsync("Memory");

        ILocator rows = page.Page.GetByRole(AriaRole.Table, new PageGetByRoleOptions { Name = "Entries by when they expire" }).Locator("tbody tr");
        await Expect(rows.Filter(new LocatorFilterOptions { HasText = "within an hour" })).ToContainTextAsync("90 ·");
        await Expect(rows.Filter(new LocatorFilterOptions { HasText = "within a day" })).ToContainTextAsync("5 ·");
        await Expect(rows.Filter(new LocatorFilterOptions { HasText = "never" })).ToContainTextAsync("5 ·");
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task Colours_follow_the_system_until_others_are_chosen_and_stay_chosen()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);
        ILocator button = page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Dark colours" });
        string light = await PaperAsync(page);

        await page.Page.EmulateMediaAsync(new PageEmulateMediaOptions { ColorScheme = ColorScheme.Dark });
        string dark = await PaperAsync(page);
        await Expect(button).ToHaveAttributeAsync("aria-pressed", "true");
        await button.ClickAsync();

        Assert.NotEqual(light, dark);
        Assert.Equal(light, await PaperAsync(page));
        await page.Page.ReloadAsync();
        Assert.Equal(light, await PaperAsync(page));
        await Expect(button).ToHaveAttributeAsync("aria-pressed", "false");
    }

    [RequiresToolFact("chromium")]
    public async Task Texts_have_the_contrast_that_WCAG_asks_for_by_day_and_by_night()
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync();
        server.MakeBusy();
        await using WatchedPage page = await browser.OpenAsync();
        await page.GoAsync(server.Address);
        foreach (ColorScheme scheme in (ColorScheme[])[ColorScheme.Light, ColorScheme.Dark])
        {
            await page.Page.EmulateMediaAsync(new PageEmulateMediaOptions { ColorScheme = scheme });
            foreach (string title in (string[])["Overview", "Commands", "Memory", "Keys"])
            {
                await page.ShowAsync(title);
                await Expect(page.Heading).ToHaveTextAsync(title);

                string[] faint = await page.Page.EvaluateAsync<string[]>(ContrastScript);

                Assert.Empty(faint);
            }
        }
    }

    // Finds texts whose colour differs too little from the nearest background that is not transparent: WCAG 2.2, 1.4.3.
    private const string ContrastScript =
        """
        () => {
          const parse = text => text.match(/[\d.]+/g).map(Number);
          const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
          const ground = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
          return [...document.querySelectorAll('body *')].filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) && e.checkVisibility()
              && !e.closest('.unseen, .skip, svg, button:disabled')).map(e => {
            const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
            return [(a + 0.05) / (b + 0.05), e];
          }).filter(([ratio]) => ratio < 4.5).map(([ratio, e]) => `${ratio.toFixed(2)} ${e.tagName}.${e.className}: ${e.textContent.slice(0, 30)}`);
        }
        """;

    private static Task<string> PaperAsync(WatchedPage page) => page.Page.EvaluateAsync<string>("() => getComputedStyle(document.body).backgroundColor");

    private static async Task<double> HeadingBelowMenuAsync(WatchedPage page) =>
        (await page.Heading.BoundingBoxAsync())!.Y - await page.Page.Locator("nav").EvaluateAsync<double>("nav => nav.getBoundingClientRect().bottom");

    private static async Task LookAsync(WatchedPage page, string title, string state)
    {
        string name = $"{title.ToLowerInvariant().Replace(' ', '-')}-{state}";
        foreach ((string size, int width, int height) in ((string, int, int)[])[("small", PhoneWidth, 740), ("large", 1440, 900)])
        {
            await page.Page.SetViewportSizeAsync(width, height);
            await page.AssertFitsAsync();
            Assert.InRange(await HeadingBelowMenuAsync(page), double.MinValue, 40); // Beside the menu on a desktop, directly below it on a phone.
            foreach (ColorScheme scheme in (ColorScheme[])[ColorScheme.Dark, ColorScheme.Light])
            {
                await page.Page.EmulateMediaAsync(new PageEmulateMediaOptions { ColorScheme = scheme });
                await page.PictureAsync($"{name}-{scheme.ToString().ToLowerInvariant()}-{size}");
            }
        }
    }
}
