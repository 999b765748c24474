namespace Cairn.Maps;

/// <summary>Whether JSON can inspect types at run time. This is the framework's own switch, which is off in trimmed applications.</summary>
internal static class MapReflection
{
    private const string Switch = "System.Text.Json.JsonSerializer.IsReflectionEnabledByDefault";

    // The trimmer replaces this property by the value of the switch and removes the code that depends on it.
    [FeatureSwitchDefinition(Switch)]
    [FeatureGuard(typeof(RequiresUnreferencedCodeAttribute))]
    [FeatureGuard(typeof(RequiresDynamicCodeAttribute))]
    public static bool IsAllowed { get; } = !AppContext.TryGetSwitch(Switch, out bool isAllowed) || isAllowed;
}
