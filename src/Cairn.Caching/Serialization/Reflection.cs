namespace Cairn.Caching.Serialization;

/// <summary>
/// Whether serializers may use reflection: the framework's own switch for System.Text.Json, which is off in trimmed applications.
/// </summary>
internal static class Reflection
{
    private const string Switch = "System.Text.Json.JsonSerializer.IsReflectionEnabledByDefault";

    // The trimmer replaces the property by the switch's value and removes the code that it guards.
    [FeatureSwitchDefinition(Switch)]
    [FeatureGuard(typeof(RequiresUnreferencedCodeAttribute))]
    [FeatureGuard(typeof(RequiresDynamicCodeAttribute))]
    public static bool IsAllowed { get; } = !AppContext.TryGetSwitch(Switch, out bool isAllowed) || isAllowed;
}
