namespace Cairn.ReleaseTests;

/// <summary>A fact about programs for Windows, run by Wine; only with CAIRN_RELEASE=1. Where there is no Wine it says so, and with CI=true it fails.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class WineFactAttribute : FactAttribute
{
    public WineFactAttribute() => Skip = WineTheoryAttribute.WhyNot;
}

/// <summary>A theory of the same kind.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class WineTheoryAttribute : TheoryAttribute
{
    public WineTheoryAttribute() => Skip = WhyNot;

    public static string? WhyNot => Release.IsComplete && Environment.GetEnvironmentVariable("CI") == "true" ? null : Wine.WhyNot;
}
