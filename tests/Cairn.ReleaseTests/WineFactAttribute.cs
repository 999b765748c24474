namespace Cairn.ReleaseTests;

/// <summary>
/// A fact about programs for Windows, which Wine runs. It runs only with CAIRN_RELEASE=1. Without Wine the test is skipped with a message, and with
/// CI=true it fails.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class WineFactAttribute : FactAttribute
{
    public WineFactAttribute() => Skip = WineTheoryAttribute.WhyNot;
}

/// <summary>A theory with the condition of <see cref="WineFactAttribute"/>.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class WineTheoryAttribute : TheoryAttribute
{
    public WineTheoryAttribute() => Skip = WhyNot;

    public static string? WhyNot => Release.IsComplete && Environment.GetEnvironmentVariable("CI") == "true" ? null : Wine.WhyNot;
}
