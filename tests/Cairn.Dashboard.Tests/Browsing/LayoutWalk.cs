using Microsoft.Playwright;

namespace Cairn.Dashboard.Tests.Browsing;

/// <summary>Looks at a page in windows of many widths.</summary>
internal static class LayoutWalk
{
    /// <summary>Phones, tablets, desks, and both sides of each width at which the pages change.</summary>
    public static readonly int[] Widths = [320, 360, 390, 640, 641, 820, 999, 1000, 1150, 1151, 1280, 1440, 1920, 2560];

    /// <summary>One on each side of what changes. Longer figures are where texts leave their place, and are looked at in all widths.</summary>
    public static readonly int[] FewWidths = [320, 641, 1000, 1440];

    /// <summary>Texts that are cut, leave their card or lie on another at any of these widths. The window has 1,440 px afterwards.</summary>
    /// <remarks>Light and dark differ in colours alone; both are walked, so that it stays so.</remarks>
    public static async Task<List<string>> FindMisplacedTextsAsync(WatchedPage page, int[] widths)
    {
        List<string> wrong = [];
        foreach (int width in widths)
        {
            await page.Page.SetViewportSizeAsync(width, 900);
            await page.Page.EmulateMediaAsync(new PageEmulateMediaOptions { ColorScheme = width is 320 or 1440 ? ColorScheme.Dark : ColorScheme.Light });
            wrong.AddRange(await page.FindMisplacedTextsAsync());
        }

        await page.Page.EmulateMediaAsync(new PageEmulateMediaOptions { ColorScheme = ColorScheme.Light });
        await page.Page.SetViewportSizeAsync(1440, 900);
        wrong.AddRange(await page.FindMisplacedTextsAsync());
        return wrong;
    }
}
