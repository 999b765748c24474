namespace Cairn.Testing;

/// <summary>
/// A fact that mounts a file system. It needs root, and enough rights within a container. Elsewhere the test is skipped with a message.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RequiresMountFactAttribute : FactAttribute
{
    public RequiresMountFactAttribute(params string[] needed)
    {
        Needed = needed;
        Skip = TestMount.WhyNot ??
            needed.Where(path => !File.Exists(path)).Select(path => $"{path} does not exist").FirstOrDefault();
    }

    /// <summary>Gets the paths of devices and programs that must exist.</summary>
    public IReadOnlyList<string> Needed { get; }
}
