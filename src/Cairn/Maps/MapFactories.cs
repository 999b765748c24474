namespace Cairn.Maps;

/// <summary>Counts the factories of maps that run on this thread. A thread that runs one must not wait for that of another caller, which can wait for it.</summary>
internal static class MapFactories
{
    [ThreadStatic]
    private static int t_depth;

    public static bool IsInFactory => t_depth != 0;

    public static void Begin() => t_depth++;

    public static void End() => t_depth--;
}
