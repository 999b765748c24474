using System.Diagnostics.CodeAnalysis;

namespace Cairn.Maps;

/// <summary>Whether JSON may look at types at run time: the framework's own switch, which trimmed applications have off.</summary>
internal static class Reflection
{
    private const string Switch = "System.Text.Json.JsonSerializer.IsReflectionEnabledByDefault";

    // The trimmer puts the switch's value here and drops what is behind it.
    [FeatureSwitchDefinition(Switch)]
    [FeatureGuard(typeof(RequiresUnreferencedCodeAttribute))]
    [FeatureGuard(typeof(RequiresDynamicCodeAttribute))]
    public static bool IsAllowed { get; } = !AppContext.TryGetSwitch(Switch, out bool isAllowed) || isAllowed;
}
