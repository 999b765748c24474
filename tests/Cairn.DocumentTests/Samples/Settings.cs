using Cairn.FileStore;
using Microsoft.Extensions.Primitives;

namespace Cairn.DocumentTests.Samples;

public sealed class Settings(IDistributedFileStoreCacheClass cache)
{
    public Theme Theme => cache.GetClass<Theme>("theme") ?? new Theme();

    public void Change(Theme theme) => cache.SetClass("theme", theme);
}

public sealed class Theme
{
    public string Name { get; set; } = "light";
}

internal static class SettingsWatch
{
    public static IDisposable Start(IDistributedFileStoreCacheClass cache, Action<Theme?> Apply) =>
        ChangeToken.OnChange(() => cache.Watch("theme"), () => Apply(cache.GetClass<Theme>("theme")));
}
