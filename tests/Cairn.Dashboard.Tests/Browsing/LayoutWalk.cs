using Microsoft.Playwright;

namespace Cairn.Dashboard.Tests.Browsing;

/// <summary>Checks a page in windows of many widths.</summary>
internal static class LayoutWalk
{
    /// <summary>The widths of phones, tablets and desktops, and both sides of each width at which the pages change.</summary>
    public static readonly int[] Widths = [320, 360, 390, 640, 641, 820, 999, 1000, 1150, 1151, 1280, 1440, 1920, 2560];

    /// <summary>One width of each layout. Tests with longer figures use all widths, because those figures misplace texts.</summary>
    public static readonly int[] FewWidths = [320, 641, 1000, 1440];

    /// <summary>
    /// Returns texts that are cut, exceed their card or overlap another text at any of these widths. Afterwards the width of the window is 1,440 px.
    /// </summary>
    /// <remarks>Light and dark mode differ only in colours. The check covers both, so that this stays true.</remarks>
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
