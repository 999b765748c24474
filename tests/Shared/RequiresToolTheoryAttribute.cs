namespace Cairn.Testing;

/// <summary>The same for a theory as <see cref="RequiresToolFactAttribute"/> for a fact.</summary>
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
