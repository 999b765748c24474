namespace Cairn.Testing;

/// <summary>A theory with the condition of <see cref="RequiresToolFactAttribute"/>.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RequiresToolTheoryAttribute : TheoryAttribute
{
    public RequiresToolTheoryAttribute(params string[] tools)
    {
        Tools = tools;
        Skip = new RequiresToolFactAttribute(tools).Skip;
    }

    public IReadOnlyList<string> Tools { get; }
}
