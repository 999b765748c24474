namespace Cairn.Testing;

/// <summary>A fact that mounts a file system, for which it must be root and not too confined. Elsewhere the test is
/// skipped and says why.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RequiresMountFactAttribute : FactAttribute
{
    public RequiresMountFactAttribute(params string[] needed)
    {
        Needed = needed;
        Skip = TestMount.WhyNot ??
            needed.Where(path => !File.Exists(path)).Select(path => $"{path} does not exist").FirstOrDefault();
    }

    /// <summary>Paths of devices and programs that must exist.</summary>
    public IReadOnlyList<string> Needed { get; }
}
