using Cairn.Dashboard.Tests.Browsing;
using Cairn.Dashboard.Tests.Serving;
using Microsoft.Playwright;
using static Microsoft.Playwright.Assertions;

namespace Cairn.Dashboard.Tests;

/// <summary>Texts stay in their place at every width, even with the longest figures.</summary>
[Collection(Browser.Collection)]
public sealed class LayoutTests(Browser browser)
{
    private static readonly (string Title, string Ready)[] s_views =
    [
        ("Top keys", "text=book:7"), // The first view, because its samples are deleted when no page has shown them for a while.
        ("Overview", ".plot path.line"), ("Commands", "text=resp"), ("Memory", "svg.map"), ("Keys", "text=book:1"),
        ("Slow log", "text=SET"), ("Connections", ".address"),
    ];

    [RequiresToolTheory("chromium")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task No_text_is_cut_or_leaves_its_card_in_any_view_at_any_width(bool isLarge)
    {
        await using ServedDashboard server = await ServedDashboard.StartAsync((options, _) => options with { SlowThreshold = TimeSpan.Zero });
        server.MakeBusy();
        server.Send("SET", $"book:{new string('7', 300)}", new string('x', 300));
        await using WatchedPage page = await browser.OpenAsync();
        if (isLarge)
        {
            await LargeFigures.ShowAsync(page.Page);
        }

        await page.GoAsync(new Uri(server.Address, "#hot"));
        await Expect(page.Page.GetByText("Nothing has been asked for yet")).ToBeVisibleAsync();
        for (int i = 0; i < 640; i++)
        {
            server.Send("GET", i % 2 == 0 ? "book:7" : $"book:{new string('7', 300)}");
        }

        List<string> wrong = [];
        foreach ((string title, string ready) in s_views)
        {
            await page.ShowAsync(title);
            await Expect(page.Page.Locator(ready).First).ToBeVisibleAsync();
            if (title == "Keys")
            {
                await page.Page.Locator(".key-list tbody tr").First.GetByRole(AriaRole.Button).ClickAsync();
                await Expect(page.Page.Locator("#value-panel, .fields").First).ToBeVisibleAsync();
            }
            else if (title == "Memory")
            {
                await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Look at every entry" }).ClickAsync();
                await Expect(page.Page.GetByRole(AriaRole.Table, new PageGetByRoleOptions { Name = "Biggest keys" })).ToBeVisibleAsync();
            }

            wrong.AddRange(await LayoutWalk.FindMisplacedTextsAsync(page, isLarge ? LayoutWalk.Widths : LayoutWalk.FewWidths));
        }

        Assert.True(wrong.Count == 0, string.Join("\n", wrong));
        page.AssertNoProblems();
    }

    [RequiresToolFact("chromium")]
    public async Task No_text_of_a_store_file_is_cut_or_leaves_its_card_at_any_width()
    {
        using var directory = new StoreDirectory();
        using CairnStore store = CairnStore.Open(directory.Options);
        store.DefaultCollection.Set("book:1", "Dune"u8);
        store.Collection("a-collection-with-a-long-name").Set("book:2", "12"u8);
        await using StoreDashboard dashboard = await StoreDashboard.StartAsync(store);
        await using WatchedPage page = await browser.OpenAsync();
        await LargeFigures.ShowAsync(page.Page);
        await page.GoAsync(dashboard.Address);
        List<string> wrong = [];
        foreach (string title in (string[])["Overview", "Memory"])
        {
            await page.ShowAsync(title);
            await Expect(page.Page.Locator(title == "Memory" ? "svg.map" : ".facts").First).ToBeVisibleAsync();
            wrong.AddRange(await LayoutWalk.FindMisplacedTextsAsync(page, LayoutWalk.Widths));
        }

        Assert.True(wrong.Count == 0, string.Join("\n", wrong));
        page.AssertNoProblems();
    }
}
