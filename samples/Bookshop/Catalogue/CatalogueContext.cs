using Microsoft.EntityFrameworkCore;

namespace Bookshop.Catalogue;

/// <summary>The tables for Entity Framework Core. Schema.sql creates them.</summary>
internal sealed class CatalogueContext(DbContextOptions<CatalogueContext> options) : DbContext(options)
{
    public DbSet<Author> Authors => Set<Author>();

    public DbSet<Book> Books => Set<Book>();

    protected override void OnModelCreating(ModelBuilder modelBuilder)
    {
        foreach (var entity in (Type[])[typeof(Author), typeof(Book)])
        {
            modelBuilder.Entity(entity).ToTable(entity.Name.ToLowerInvariant());
        }

        modelBuilder.Entity<Book>().HasOne(book => book.Author).WithMany().HasForeignKey(book => book.AuthorId);
        foreach (var property in modelBuilder.Model.GetEntityTypes().SelectMany(entity => entity.GetProperties()))
        {
            property.SetColumnName(property.Name is nameof(Book.AuthorId) ? "author_id" : property.Name.ToLowerInvariant());
        }
    }
}
